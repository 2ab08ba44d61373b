from reelscore.report.html.contents import Report as Report
from reelscore.report.html.contents import Section as Section
from reelscore.report.html.contents import report_of as report_of
from reelscore.report.html.page import report_html as report_html
from reelscore.report.html.page import write_report as write_report
from reelscore.report.html.previews import Preview as Preview
from reelscore.report.html.previews import read_previews as read_previews
