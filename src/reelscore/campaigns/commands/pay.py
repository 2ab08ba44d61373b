"""``reelscore campaign pay``."""

from __future__ import annotations

from dataclasses import replace

import click

from reelscore.campaigns.commands.options import campaign_argument, id_option, say
from reelscore.cli.options import choice_option
from reelscore.cli.terminal import STDOUT, check_targets, write

_FORMS = ("amounts", "prolific-approve", "prolific-bonus", "mturk")


@click.command("pay")
@campaign_argument
@click.argument("path", metavar="[FILE]", default=STDOUT)
@id_option
@choice_option(
    "--format",
    "form",
    choices=_FORMS,
    default="amounts",
    help="The amount for each rater, or a file for a crowd service.",
)
@click.option(
    "--price",
    type=click.FloatRange(min=0),
    help="Price of a HIT; the campaign's price if not given.",
)
@click.option("--whole", is_flag=True, help="Pay nothing for unfinished HITs.")
def command(
    campaign: str,
    path: str,
    campaign_id: str | None,
    form: str,
    price: float | None,
    whole: bool,
) -> None:
    """List payments in the formats of crowd services.

    A finished HIT earns its price, an unfinished one the share of the tasks answered, a rejected
    one nothing. prolific-approve lists participants, one per line, for bulk approval;
    prolific-bonus lists what unfinished HITs earn; mturk is for uploading reviewed results.

    \b
    Examples:
      reelscore campaign pay my.db amounts.csv --price 2.50
      reelscore campaign pay my.db approve.txt --format prolific-approve
    """
    from reelscore.cli.serve import need_web

    need_web()
    from reelscore.campaigns.campaign import Campaign
    from reelscore.campaigns.pages.payments import PAY_LISTS, Pay, list_work
    from reelscore.web.store.schema import open_database

    check_targets(path)
    with Campaign.open(campaign, campaign_id) as opened_campaign:
        open_database(campaign).close()  # makes the tables of the pages where there are none
        pay = replace(Pay.of(opened_campaign), pro_rata=not whole)
        pay = pay if price is None else replace(pay, price=price)
        if not pay.price:
            say("The price of a HIT is 0; give --price, or enter it under Texts.")
        write(path, PAY_LISTS[form](list_work(opened_campaign), pay), private=True)
