"""Corpora of described films: from film sound and its described version to narrated clips.

A described track is aligned with its film, whatever was cut, inserted or changed in speed, and the
narrator is what the film does not explain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.corpus.accessibility import Narration, accessibility_report, to_webvtt
    from reelscore.corpus.alignment import Alignment, align_samples
    from reelscore.corpus.anchors import Anchors, FilmIndex, RateChoice, estimate_rate, find_anchors
    from reelscore.corpus.assembly import assemble
    from reelscore.corpus.audio import AudioTrack, Gap, Samples, find_track, read_samples
    from reelscore.corpus.cast import Cast
    from reelscore.corpus.challenge import challenge_files
    from reelscore.corpus.decisions import append_decision, read_decisions
    from reelscore.corpus.duplicates import SameFilm, same_films
    from reelscore.corpus.exports import ExportedClip, to_coco, to_csv, to_jsonl, to_stories
    from reelscore.corpus.features import sound_features
    from reelscore.corpus.film_names import film_headings
    from reelscore.corpus.findings import alignment_findings, segmentation_findings
    from reelscore.corpus.names import Anonymised, Replacement, anonymise, unknown_names
    from reelscore.corpus.narration import BandPowers, band_powers
    from reelscore.corpus.paper_methods import lms_level, spectrogram_difference
    from reelscore.corpus.project import Film, Project
    from reelscore.corpus.records import (
        Clip,
        Decision,
        Element,
        Finding,
        Piece,
        Segment,
        Sentence,
    )
    from reelscore.corpus.results import InputFile, fingerprint
    from reelscore.corpus.review.replay import Passage, Reviewed, replay
    from reelscore.corpus.script_alignment import AlignedScript, align_script
    from reelscore.corpus.script_steps import script, script_times
    from reelscore.corpus.scripts.elements import Script
    from reelscore.corpus.scripts.formats import parse_script, read_script
    from reelscore.corpus.scripts.fountain import write_fountain
    from reelscore.corpus.segmentation import Segmentation, narration_turns, segment_samples
    from reelscore.corpus.spans import doubt_overlaps
    from reelscore.corpus.splits import Work, split, works
    from reelscore.corpus.statistics import CorpusSize, corpus_size, review_size
    from reelscore.corpus.steps import TrackPair, align, find_pair, segment
    from reelscore.corpus.subtitles import Cue, CueLine, Subtitles, read_subtitles
    from reelscore.corpus.time_map import Break, TimeMap
    from reelscore.corpus.transcripts import (
        Entry,
        narration_sentences,
        read_entries,
        transcript_template,
    )
    from reelscore.corpus.waveforms import Line, best_edges

__all__ = [
    "AlignedScript",
    "Alignment",
    "Anchors",
    "Anonymised",
    "AudioTrack",
    "BandPowers",
    "Break",
    "Cast",
    "Clip",
    "CorpusSize",
    "Cue",
    "CueLine",
    "Decision",
    "Element",
    "Entry",
    "ExportedClip",
    "Film",
    "FilmIndex",
    "Finding",
    "Gap",
    "InputFile",
    "Line",
    "Narration",
    "Passage",
    "Piece",
    "Project",
    "RateChoice",
    "Replacement",
    "Reviewed",
    "SameFilm",
    "Samples",
    "Script",
    "Segment",
    "Segmentation",
    "Sentence",
    "Subtitles",
    "TimeMap",
    "TrackPair",
    "Work",
    "accessibility_report",
    "align",
    "align_samples",
    "align_script",
    "alignment_findings",
    "anonymise",
    "append_decision",
    "assemble",
    "band_powers",
    "best_edges",
    "challenge_files",
    "corpus_size",
    "doubt_overlaps",
    "estimate_rate",
    "film_headings",
    "find_anchors",
    "find_pair",
    "find_track",
    "fingerprint",
    "lms_level",
    "narration_sentences",
    "narration_turns",
    "parse_script",
    "read_decisions",
    "read_entries",
    "read_samples",
    "read_script",
    "read_subtitles",
    "replay",
    "review_size",
    "same_films",
    "script",
    "script_times",
    "segment",
    "segment_samples",
    "segmentation_findings",
    "sound_features",
    "spectrogram_difference",
    "split",
    "to_coco",
    "to_csv",
    "to_jsonl",
    "to_stories",
    "to_webvtt",
    "transcript_template",
    "unknown_names",
    "works",
    "write_fountain",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "corpus.accessibility": "Narration accessibility_report to_webvtt",
        "corpus.alignment": "Alignment align_samples",
        "corpus.anchors": "Anchors FilmIndex RateChoice estimate_rate find_anchors",
        "corpus.assembly": "assemble",
        "corpus.audio": "AudioTrack Gap Samples find_track read_samples",
        "corpus.cast": "Cast",
        "corpus.challenge": "challenge_files",
        "corpus.decisions": "append_decision read_decisions",
        "corpus.duplicates": "SameFilm same_films",
        "corpus.exports": "ExportedClip to_coco to_csv to_jsonl to_stories",
        "corpus.features": "sound_features",
        "corpus.film_names": "film_headings",
        "corpus.findings": "alignment_findings segmentation_findings",
        "corpus.names": "Anonymised Replacement anonymise unknown_names",
        "corpus.narration": "BandPowers band_powers",
        "corpus.paper_methods": "lms_level spectrogram_difference",
        "corpus.project": "Film Project",
        "corpus.records": "Clip Decision Element Finding Piece Segment Sentence",
        "corpus.results": "InputFile fingerprint",
        "corpus.review.replay": "Passage Reviewed replay",
        "corpus.script_alignment": "AlignedScript align_script",
        "corpus.script_steps": "script script_times",
        "corpus.scripts.elements": "Script",
        "corpus.scripts.fountain": "write_fountain",
        "corpus.scripts.formats": "parse_script read_script",
        "corpus.segmentation": "Segmentation narration_turns segment_samples",
        "corpus.spans": "doubt_overlaps",
        "corpus.splits": "Work split works",
        "corpus.statistics": "CorpusSize corpus_size review_size",
        "corpus.steps": "TrackPair align find_pair segment",
        "corpus.subtitles": "Cue CueLine Subtitles read_subtitles",
        "corpus.time_map": "Break TimeMap",
        "corpus.transcripts": "Entry narration_sentences read_entries transcript_template",
        "corpus.waveforms": "Line best_edges",
    },
)
