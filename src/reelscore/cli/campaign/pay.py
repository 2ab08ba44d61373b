"""``reelscore campaign pay``."""

from __future__ import annotations

from dataclasses import replace

import click

from reelscore.cli.campaign.options import campaign_argument, id_option, say
from reelscore.cli.options import STDOUT, check_targets, write

_FORMS = ("amounts", "prolific-approve", "prolific-bonus", "mturk")


@click.command("pay")
@campaign_argument
@click.argument("path", metavar="[FILE]", default=STDOUT)
@id_option
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default="amounts",
    show_default=True,
    help="Amounts for each rater, or what a crowd service takes.",
)
@click.option(
    "--price", type=click.FloatRange(min=0), help="For a HIT; that of the campaign unless given."
)
@click.option("--whole", is_flag=True, help="Unfinished HITs earn nothing.")
def command(
    campaign: str,
    path: str,
    campaign_id: str | None,
    form: str,
    price: float | None,
    whole: bool,
) -> None:
    """Whom to pay how much, as crowd services take it.

    A finished HIT earns its price, an unfinished one a part of it for the tasks answered; what was
    rejected earns nothing. prolific-approve lists participants, one on a line, for bulk approval;
    prolific-bonus what unfinished HITs earn; mturk is for the upload of reviewed results.

    \b
    Examples:
      reelscore campaign pay my.db amounts.csv --price 2.50
      reelscore campaign pay my.db approve.txt --format prolific-approve
    """
    from reelscore.cli.serve import need_web

    need_web()
    from reelscore.human.campaign import Campaign
    from reelscore.web.database import open_database
    from reelscore.web.payments import PAY_LISTS, Pay, list_work

    check_targets([path])
    with Campaign.open(campaign, campaign_id) as found:
        open_database(campaign).close()  # makes the tables of the pages where there are none
        pay = replace(Pay.of(found), pro_rata=not whole)
        pay = pay if price is None else replace(pay, price=price)
        if not pay.price:
            say("The price of a HIT is 0; give --price, or enter it under Texts.")
        write(path, PAY_LISTS[form](list_work(found), pay), private=True)
