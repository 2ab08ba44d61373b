"""What a campaign costs, and the sum written out so that it can be checked."""

from __future__ import annotations

from dataclasses import dataclass

from reelscore.errors import DataError


@dataclass(frozen=True)
class Costs:
    """The price of HITs.

    Attributes:
        hits: HITs to be paid.
        price: What a rater gets for one.
        fee: The crowd service's share on top: 0.2 is 20 %.
        systems: Among how many systems the sum is divided.
        currency: Its name.

    The paper paid 0.99 USD for a HIT and 20 % to the service, for 94 HITs and five systems:

    >>> print(Costs(94, 0.99, 0.2, systems=5))
    94 HITs x 0.99 USD = 93.06 USD
    + 20% fee 18.61 USD = 111.67 USD
    / 5 systems = 22.33 USD per system

    It prints 22 USD for a system, rounded, and 110 USD in all, which is five times that.

    >>> 5 * round(Costs(94, 0.99, 0.2, systems=5).per_system)
    110
    """

    hits: int
    price: float = 0.99
    fee: float = 0.2
    systems: int = 1
    currency: str = "USD"

    def __post_init__(self) -> None:
        if self.hits < 0 or self.price < 0 or self.fee < 0 or self.systems < 1:
            raise DataError(
                "Costs need HITs, a price and a fee of 0 or more, and at least one system; got "
                f"{self.hits}, {self.price:g}, {self.fee:g} and {self.systems}."
            )

    @property
    def wages(self) -> float:
        """What raters get."""
        return self.hits * self.price

    @property
    def total(self) -> float:
        """What everything costs."""
        return self.wages * (1 + self.fee)

    @property
    def per_system(self) -> float:
        """What a system costs; one more costs as much again."""
        return self.total / self.systems

    def __str__(self) -> str:
        money = self.currency
        return "\n".join(
            [
                f"{self.hits} HITs x {self.price:.2f} {money} = {self.wages:.2f} {money}",
                f"+ {self.fee:.0%} fee {self.total - self.wages:.2f} {money} = "
                f"{self.total:.2f} {money}",
                f"/ {self.systems} systems = {self.per_system:.2f} {money} per system",
            ]
        )
