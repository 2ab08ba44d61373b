"""Reading judgments: the published files, plain tables, and files that are wrong."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest

from reelscore.campaigns.imports import rows as import_rows
from reelscore.campaigns.imports.judgment_files import read_judgments
from reelscore.campaigns.imports.rows import seconds
from reelscore.errors import DataError, UnknownNameError
from support.campaigns import eacl, eacl_batches, published

HEADER = "rater,hit,system,item,kind,score\n"


def write(folder, text, name="ratings.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path, **options):
    with pytest.raises(DataError) as raised:
        read_judgments([path], **options)
    return str(raised.value)


# Published files


def test_batches_hold_what_the_tools_made_of_them(shared):
    def rows(judgments):
        return Counter((j.rater, j.hit, j.position, j.item, j.kind, j.score) for j in judgments)

    table = read_judgments([shared / "da-eacl2017-runA" / "ad-latest.csv"]).judgments
    assert rows(eacl(shared)) == rows(table)
    assert len(table) == 10_500


def test_batches_keep_times_and_status(shared):
    judgments = eacl(shared)
    first = next(iter(judgments))
    assert first.submitted - first.started == first.seconds
    assert judgments.status["rejected"].sum() == 1_000


def test_a_batch_that_ends_within_a_comment_is_read_and_says_so(shared):
    (note,) = read_judgments(eacl_batches(shared)[:1]).notes
    assert "Batch_2603232_batch_results.csv:56: the file ends within quotes" in note


@pytest.mark.parametrize("pair", ["csen", "zhen"])
def test_z_scores_become_whole_raw_scores(shared, pair):
    judgments = read_judgments([shared / "da-wmt22" / f"ad-{pair}-good-stnd.csv"]).judgments
    assert (judgments.score == judgments.score.round()).all()
    assert judgments.score.min() >= 0
    assert judgments.score.max() <= 100
    means = published(shared / "da-wmt22" / f"ad-{pair}-trk-mean-sd.txt")
    printed = {means[k][1].strip('"'): float(means[k + 1][1]) for k in range(0, len(means), 3)}
    for rater in judgments.rater.names:
        mean = judgments.score[judgments.rater[rater]].mean()
        assert mean == pytest.approx(printed[rater], rel=1e-6)


def test_z_scores_without_means_are_explained(shared, tmp_path):
    table = (shared / "da-wmt22" / "ad-csen-good-stnd.csv").read_bytes()
    message = refused(write(tmp_path, table, "ad-csen-good-stnd.csv"))
    assert "need the raters' means and deviations" in message
    assert "ad-csen-trk-mean-sd.txt" in message


def test_means_of_another_pair_are_refused(shared):
    folder = shared / "da-wmt22"
    message = refused(folder / "ad-csen-good-stnd.csv", moments=folder / "ad-zhen-trk-mean-sd.txt")
    assert "has no mean and deviation" in message


def test_pairs_of_languages_are_kept_apart(tmp_path):
    table = (
        "HITId\tWorkerId\tInput.src\tInput.trg\tsys_id\ttype\tsid\tscore\n"
        "h1\tw1\tcs\ten\tA\tSYSTEM\t1\t70\n"
        "h1\tw1\tzh\ten\tA\tSYSTEM\t1\t60\n"
    )
    path = write(tmp_path, table)
    assert "2 pairs of languages (cs-en, zh-en); choose one" in refused(path)
    assert read_judgments([path], pair="zh-en").judgments.score.tolist() == [60.0]
    assert "no judgment of the pair 'de-en'" in refused(path, pair="de-en")


# Mechanical Turk's rows

BATCH = "HITId,WorkerId,AssignmentStatus,Input.sid_0,Input.sid_1,Answer.Q1,Answer.comments\n"


def batch(folder, *rows):
    return write(folder, BATCH + "".join(row + "\n" for row in rows))


def test_systems_with_underscores(tmp_path):
    path = batch(tmp_path, "h,w,Approved,1,2,my_run_7_BAD_REF_0__10|my_run_7_SYSTEM_1__80,{}")
    first, second = read_judgments([path]).judgments
    assert (first.system, first.item, first.kind) == ("my_run", "7", "degraded")
    assert (second.position, second.score, second.status) == (1, 80.0, "approved")


def test_unfinished_hits_are_left_out_and_counted(tmp_path):
    done = "h1,w1,Submitted,1,2,a_1_SYSTEM_0__10|a_2_SYSTEM_1__80,{}"
    path = batch(tmp_path, done, "h2,w1,Submitted,1,2,a_1_SYSTEM_0__10,{}")
    imported = read_judgments([path])
    assert len(imported.judgments) == 2
    assert imported.notes == ("1 HIT was left out: not all tasks are answered.",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("h,w,Submitted,1,2,a_1_SYSTEM_0__101|a_2_SYSTEM_1__80,", "expected a number from 0 to"),
        ("h,w,Submitted,1,2,a_1_SYSTEM_0__x|a_2_SYSTEM_1__80,", "the score is 'x'"),
        ("h,w,Submitted,1,2,a_1_SYSTEM_0__1|a_2_SYSTEM_0__80,", "position 0 is answered twice"),
        ("h,w,Submitted,1,2,a_1_ODD_0__1|a_2_SYSTEM_0__80,", "an answer is 'a_1_ODD_0__1'"),
        ("h,w,Submitted,1,2,{},", "0 answers of the form"),
        (",w,Submitted,1,2,a_1_SYSTEM_0__1,", "no HITId or no WorkerId"),
    ],
)
def test_rows_that_cannot_be_used(tmp_path, row, message):
    assert message in refused(batch(tmp_path, row))


QUOTED = BATCH.rstrip() + ",Approve\n"


def quoted(hit, comment, end='"\r\n'):
    answers = "a_1_SYSTEM_0__10|a_2_SYSTEM_1__80"
    return f'"{hit}","w","Submitted","1","2","{answers}","{comment}{end}'


def comments_without_quotes(whole, numbers):
    """Take the closing quotes of some lines away."""
    lines = whole.split(b"\r\n")
    for number in numbers:
        assert lines[number - 1].endswith(b'"')
        lines[number - 1] = lines[number - 1].removesuffix(b'"')
    return b"\r\n".join(lines)


def test_missing_quotes_in_the_middle_of_a_real_batch(shared, tmp_path):
    source = eacl_batches(shared)[0]
    numbers = [4, 20, 21, 40]  # two of them in a row, one a comment with commas
    damaged = write(tmp_path, comments_without_quotes(source.read_bytes(), numbers), source.name)
    imported, whole = read_judgments([damaged]), read_judgments([source])
    assert list(imported.judgments) == list(whole.judgments)
    assert [note.split(": ")[0] for note in imported.notes] == [
        f"{damaged}:{number}" for number in (*numbers, 56)
    ]
    assert "a closing quote is missing in the row from here" in imported.notes[0]
    assert "the file ends within quotes" in imported.notes[-1]


TORN = "\r\n"  # the end of a row whose comment has no closing quote
RECOVERED = [
    # rows of the file, HITs and noted lines
    ([quoted("h1", "fine, but long", TORN), quoted("h2", "{}")], ["h1", "h2"], [2]),
    ([quoted("h1", "{}"), quoted("h2", "two\r\nlines, torn", TORN), quoted("h3", "")],
     ["h1", "h2", "h3"], [3]),
    ([quoted("h1", "{}"), quoted("h2", "torn", TORN), quoted("h3", "whole\r\nlines")],
     ["h1", "h2", "h3"], [3]),
    ([quoted("h1", "{}"), quoted("h2", "torn", TORN), "h3,w,Submitted,1,2,a_1_SYSTEM_0__5|"
      "a_2_SYSTEM_1__6,plain\r\n"], ["h1", "h2", "h3"], [3]),
    ([quoted("h1", "{}", '",""\r\n'), quoted("h2", "torn, here", ',"x"\r\n'),
      quoted("h3", "{}", '",""\r\n')], ["h1", "h2", "h3"], [3]),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "hits", "numbers"), RECOVERED)
def test_rows_without_closing_quotes(tmp_path, lines, hits, numbers):
    path = write(tmp_path, QUOTED + "".join(lines))
    imported = read_judgments([path])
    assert list(dict.fromkeys(row.hit for row in imported.judgments)) == hits
    assert [note.split(": ")[0] for note in imported.notes] == [f"{path}:{k}" for k in numbers]


def test_rows_that_can_be_read_in_two_ways_are_refused(tmp_path):
    # Rows with and without the last column: the comma may be the comment's or end it.
    intact = quoted("h1", "{}") + quoted("h2", "{}", '","x"\r\n')
    path = write(tmp_path, QUOTED + intact + quoted("h3", "fine, but", TORN) + quoted("h4", ""))
    assert ":4: malformed table, in the row from here: a closing quote is missing" in refused(path)


def test_a_stray_quote_is_no_missing_one(tmp_path):
    path = write(tmp_path, QUOTED + quoted("h1", "{}") + quoted("h2", 'he said "no" to it'))
    assert ":3: malformed table" in refused(path)


def test_a_hit_done_twice_by_one_rater(tmp_path):
    row = "h,w,Submitted,1,2,a_1_SYSTEM_0__10|a_2_SYSTEM_1__80,"
    assert "did HIT 'h' already in line 2" in refused(batch(tmp_path, row, row))


def test_a_file_named_twice(tmp_path):
    path = batch(tmp_path, "h,w,Submitted,1,2,a_1_SYSTEM_0__10|a_2_SYSTEM_1__80,")
    with pytest.raises(DataError, match="Is a file named twice"):
        read_judgments([path, path])


# Plain tables


def test_other_names_for_the_columns(tmp_path):
    text = "worker;video_id;model;rating;submitted\nw1;clip1;mine;71;2026-03-01T12:00:00+01:00\n"
    (row,) = read_judgments([write(tmp_path, text)]).judgments
    assert (row.rater, row.item, row.system, row.score) == ("w1", "clip1", "mine", 71.0)
    assert (row.kind, row.criterion, row.task) == ("caption", "adequacy", "clip1/mine/caption")
    assert row.submitted == seconds("2026-03-01T11:00:00Z")


def test_a_comparison(tmp_path):
    text = "rater,system,against,item,score\nr1,one,two,v1,-2\n"
    (row,) = read_judgments([write(tmp_path, text)], protocol_name="preference").judgments
    assert (row.system, row.against, row.score) == ("one", "two", -2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rater,system,item\nr1,a,v1\n", "no column score"),
        (HEADER + "r1,h1,a,v1,caption,101\n", ":2: the score is '101'"),
        (HEADER + "r1,h1,a,v1,caption,-1\n", "expected a number from 0 to 100"),
        (HEADER + "r1,h1,a,v1,caption,nan\n", "the score is 'nan'"),
        (HEADER + "r1,h1,a,v1,odd,5\n", "the type is 'odd'"),
        (HEADER + ",h1,a,v1,caption,5\n", "the rater is empty"),
        (HEADER + "r1,h1,a,v1,caption,5,6\n", "the row has 7 fields, the header 6"),
        (HEADER + 'r1,h1,"a,v1,caption,5\n', "malformed table"),
        (HEADER, "no judgment in it"),
        (HEADER.encode() + b"r1,h1,\xff,v1,caption,5\n", "UTF-8"),
        ("rater,task,system,item,score\nr1,t,a,v1,5\nr1,t,a,v1,5\n", "judged task 't'"),
        ("rater,system,item,score,started\nr1,a,v1,5,noon\n", "the time is 'noon'"),
        ("", "the file is empty"),
        (b"rater,\x90\n", ":1: invalid UTF-8: byte 0x90"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, text, message):
    assert message in refused(write(tmp_path, text))


def test_all_bad_rows_are_counted(tmp_path):
    bad = "".join(f"r1,h1,a,v{k},caption,{k}\n" for k in range(95, 110))
    message = refused(write(tmp_path, HEADER + bad))
    assert "9 records cannot be used; the first 5:" in message


def test_a_runaway_line_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.write(HEADER.encode() + b'"')
        file.truncate(1 << 30)  # a line of 1 GB, of which the disk holds nothing
    tracemalloc.start()
    message = refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "the line has more than 16,777,216 bytes" in message
    assert peak < 6 * import_rows.LONGEST_LINE


def test_unknown_names(tmp_path):
    path = write(tmp_path, HEADER)
    with pytest.raises(UnknownNameError, match="Did you mean 'mturk'"):
        read_judgments([path], format="mtruk")
    with pytest.raises(UnknownNameError, match="Unknown protocol"):
        read_judgments([path], protocol_name="guess")
    with pytest.raises(DataError, match="No file"):
        read_judgments([])


@pytest.mark.parametrize(("highest", "scores"), [("1", [0.5, 1]), ("5", [1, 5])])
def test_scores_on_another_scale(tmp_path, highest, scores):
    rows = [f"r1,h1,s{k % 2},v{k},caption,{scores[k % 2]}\n" for k in range(20)]
    (note,) = read_judgments([write(tmp_path, HEADER + "".join(rows))]).notes
    assert note == (
        f"The highest of 20 scores is {highest}, on a scale up to 100: if they are on another one, "
        "convert them first."
    )
    higher = [*rows[:-1], "r1,h1,s1,v19,caption,50\n"]
    assert not read_judgments([write(tmp_path, HEADER + "".join(higher))]).notes
