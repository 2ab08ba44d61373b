from reelscore.video.clips import Clip as Clip
from reelscore.video.frames import Frames as Frames
from reelscore.video.frames import Sampling as Sampling
from reelscore.video.frames import read_frames as read_frames
