"""Pictures from videos: which frames, at which size, and which file shows which item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.video.clips import Clip, find_clips
    from reelscore.video.frames import Frames, Sampling, find_videos, read_frames, video_key

__all__ = [
    "Clip",
    "Frames",
    "Sampling",
    "find_clips",
    "find_videos",
    "read_frames",
    "video_key",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "video.clips": "Clip find_clips",
        "video.frames": "Frames Sampling find_videos read_frames video_key",
    },
)
