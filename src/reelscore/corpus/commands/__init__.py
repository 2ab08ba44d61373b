"""``reelscore corpus``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module and function, what it does)
_COMMANDS = {
    "new": ("project_commands:new", "Create a project folder."),
    "add-film": ("project_commands:add_film", "Add a film and its described track to a project."),
    "status": ("project_commands:status", "Show where every film of a project stands."),
    "align": ("sound_commands:align", "Align described tracks with their films."),
    "segment": ("sound_commands:segment", "Find when the narrator speaks."),
    "subtitles": ("word_commands:subtitles", "Read a film's subtitles."),
    "script": ("word_commands:script", "Read a film's script, and find times by subtitles."),
    "transcript": ("word_commands:transcript", "Read the words of a narration."),
    "descriptions": ("word_commands:descriptions", "Show how dense a narration is, and its room."),
    "review": ("project_commands:review", "Correct segments and sentences on a page."),
    "assemble": ("clip_commands:assemble", "Make clips from sentences."),
    "cut": ("clip_commands:cut", "Cut clips out of their films."),
    "anonymise": ("clip_commands:anonymise", "Replace the names of people by Someone."),
    "split": ("clip_commands:split", "Divide films into training, validation and test."),
    "stats": ("release_commands:stats", "Count films, clips, sentences and words."),
    "export": ("release_commands:export", "Write clips as files for scoring and training."),
}


@click.command("corpus", cls=LazyGroup, package=__name__, modules=_COMMANDS)
def command() -> None:
    """Build a corpus of described clips from films and their described tracks.

    \b
    A film from its files to its narration; then its words, and clips of them:
      reelscore corpus new films
      reelscore corpus add-film sintel --film f.mkv --ad f-ad.m4a --project films
      reelscore corpus align --project films
      reelscore corpus segment --project films
      reelscore corpus status --project films

    The exit status is 3 where a result must not be trusted.
    """
