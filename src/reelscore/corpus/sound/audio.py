"""The sound of a file as 16 kHz samples: decoded block by block, never as a whole in memory.

PyAV decodes and resamples; the decoded samples lie in a nameless temporary file, which vanishes
with the process, and any part of them can be read back at any rate.
"""

from __future__ import annotations

import io
import math
import tempfile
import wave
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.corpus.project_files import AudioTrack
from reelscore.errors import DataError

if TYPE_CHECKING:
    from av import AudioFrame, AudioLayout, AudioResampler, AudioStream
    from av.container import InputContainer

RATE = 16_000
JITTER = 0.02
"""Seconds; time stamps closer to their place than this are only rounded."""

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Role = Literal["film", "ad"]
Block = tuple[tuple[str, ...], Floats]  # the names of the speakers, and a row for each

GUESSED = {"mp3", "aac", "ac3", "eac3", "dts", "mpegts", "mpeg", "amr", "loas"}
"""Containers whose stated length, and whose places of times, are guesses from the bit rate."""

_BLOCK = 30 * RATE  # samples that are decoded at once
_TAPS = 16  # of the windowed sinc that reads between samples
_PHASES = 8192  # places between two samples that have weights of their own
_KAISER = 7.0  # shape of its window
_STEP = 1 << 15  # samples that are read at once
_LONGEST_GAP = 3600.0  # seconds; a longer one is an error of the file
_CUT_OFF = 0.9  # a file that ends before this share of its length was cut off
_LOUD = 0.99  # of full scale: a sample that is clipped
_PROTECTED = {"enca", "drms"}
# ITU-R BS.775: what other speakers add to left and right.
_SIDE = 1 / math.sqrt(2)
_WEIGHTS = {
    "FL": (1.0, 0.0),
    "FR": (0.0, 1.0),
    "FC": (_SIDE, _SIDE),
    "LFE": (0.0, 0.0),
    **dict.fromkeys(("BL", "SL", "FLC", "TFL"), (_SIDE, 0.0)),
    **dict.fromkeys(("BR", "SR", "FRC", "TFR"), (0.0, _SIDE)),
    "BC": (0.5, 0.5),
}
# Files that do not say which speakers their channels are for: what their number stands for.
_USUAL_LAYOUTS = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}


@dataclass(frozen=True)
class Gap:
    """A time without samples, which was filled with silence."""

    start: float
    seconds: float


def find_track(
    path: str | Path, *, role: Role = "film", stream: int | None = None, language: str | None = None
) -> AudioTrack:
    """Choose the stream of sound in a file, by its number from 0 if that is given.

    Otherwise a described track is chosen by its disposition, then by its language.
    """
    with open_media(path) as container:
        streams = list(container.streams.audio)
        if not streams:
            raise DataError(f"{path}: the file has no sound; name a file with a stream of sound.")
        if stream is not None and not 0 <= stream < len(streams):
            raise DataError(
                f"{path}: there is no stream {stream}; it has {len(streams)} streams of sound, "
                "counted from 0."
            )
        number, reason = (
            (stream, "option") if stream is not None else _choice(streams, role, language)
        )
        chosen = streams[number]
        if str(chosen.codec_context.codec_tag).strip("\0") in _PROTECTED:
            raise DataError(f"{path}: the sound is protected against copying; use another file.")
        if chosen.codec_context.sample_rate <= 0:
            raise DataError(f"{path}: the sound cannot be decoded; convert the file first.")
        return AudioTrack(
            path=str(path),
            stream=number,
            codec=chosen.codec_context.name,
            layout=named_layout(chosen.layout).name,
            rate=chosen.codec_context.sample_rate,
            language=_language(chosen),
            chosen_by=reason,
            seconds=_stated_seconds(container, chosen),
        )


def _choice(streams: list[AudioStream], role: Role, language: str | None) -> tuple[int, str]:
    if len(streams) == 1:
        return 0, "only"
    marks = ("visual_impaired", "descriptions")
    described = [any(_has(stream, mark) for mark in marks) for stream in streams]
    if role == "ad" and any(described):
        return described.index(True), "disposition"
    rest = [k for k, flag in enumerate(described) if not flag] or list(range(len(streams)))
    if language and language in (names := [_language(streams[k]) for k in rest]):
        return rest[names.index(language)], "language"
    return next((k for k in rest if _has(streams[k], "default")), rest[0]), "default"


def _has(stream: AudioStream, disposition: str) -> bool:
    flags = stream.disposition
    return bool(flags & getattr(type(flags), disposition))


def _language(stream: AudioStream) -> str | None:
    language = stream.metadata.get("language")
    return None if language in (None, "", "und") else str(language)


def _stated_seconds(container: InputContainer, stream: AudioStream) -> float:
    if set(container.format.name.split(",")) & GUESSED:
        return 0.0
    if stream.duration is not None:
        return float(stream.duration * (stream.time_base or 0))
    return float((container.duration or 0) / 1e6)


def open_media(path: str | Path) -> InputContainer:
    """Open a file with PyAV."""
    av = need("av", "reelscore[corpus]", "Reading sound needs", "PyAV")
    file = Path(path)
    if not file.is_file():
        raise DataError(f"{path}: there is no such file.")
    if file.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; copy it again.")
    try:
        container: InputContainer = av.open(str(file))
        return container
    except (av.FFmpegError, OSError) as error:
        raise DataError(
            f"{path}: the file cannot be read as sound or video ({error.strerror}); "
            "it may be cut off: copy it again."
        ) from None


class SampleReader:
    """Samples of a track, 16,000 a second, of which any part can be read at any rate."""

    def read(self, start: int, stop: int, channel: int = 0) -> Floats:
        """Read samples by their numbers; there is silence before the first and after the last.

        Channel 0 is all speakers together, 1 left minus right, 2 the centre.
        """
        raise NotImplementedError

    def resampled(self, first: float, step: float, count: int, channel: int = 0) -> Floats:
        """Read between samples: at `first`, `first + step`, …, by a windowed sinc of 16 taps.

        Places are counted in samples; there are `count` of them.
        """
        values = np.empty(count, np.float32)
        for begin in range(0, count, _STEP):  # small enough for the processor's cache
            places = first + step * np.arange(begin, min(begin + _STEP, count))
            whole = np.floor(places)
            phases = ((places - whole) * _PHASES + 0.5).astype(np.intp)
            low = int(whole[0]) - _TAPS // 2 + 1
            samples = self.read(low, int(whole[-1]) + _TAPS // 2 + 1, channel)
            nearest = whole.astype(np.intp) - int(whole[0])
            part = values[begin : begin + _STEP]
            part[:] = 0
            for weights in _SINC:
                part += samples.take(nearest) * weights.take(phases)
                nearest += 1
        return values


class Samples(SampleReader, AbstractContextManager["Samples"]):
    """The samples of a whole track, decoded, in nameless temporary files."""

    def __init__(self, track: AudioTrack, folder: Path | None, channels: int) -> None:
        self.track = track
        self.count = 0
        self.gaps: list[Gap] = []
        self.mono = True  # whether left and right are equal
        self.clipped = 0.0  # the share of samples at full scale
        self.has_centre = False  # whether the file has a centre channel of its own
        self._files: list[IO[bytes]] = [
            tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)
            for _ in range(channels)
        ]

    @property
    def seconds(self) -> float:
        """How long the track lasts."""
        return self.count / RATE

    def read(self, start: int, stop: int, channel: int = 0) -> Floats:
        """Read samples by their numbers, as `SampleReader.read` says."""
        samples = np.zeros(max(0, stop - start), np.float32)
        low, high = max(0, start), min(self.count, stop)
        if low < high:
            file = self._files[channel]
            file.seek(4 * low)
            file.readinto(samples[low - start : high - start].data)  # type: ignore[attr-defined]
        return samples

    def append(self, block: Floats) -> None:
        """Add samples at the end: a row for each channel."""
        for file, channel in zip(self._files, block, strict=True):
            file.write(np.ascontiguousarray(channel).tobytes())
        self.count += block.shape[1]

    def close(self) -> None:
        """Free the space."""
        for file in self._files:
            file.close()

    def __del__(self) -> None:
        self.close()

    def __exit__(self, *error: object) -> None:
        self.close()


def _sinc_table() -> Floats:
    """The weights of the 16 nearest samples (rows) for each place between two samples."""
    taps = np.arange(_TAPS)[:, None] - _TAPS // 2 + 1
    distance = taps - np.arange(_PHASES + 1) / _PHASES
    inside = np.clip(1 - (distance / (_TAPS / 2)) ** 2, 0, None)
    window = np.i0(_KAISER * np.sqrt(inside)) / np.i0(_KAISER)
    return (np.sinc(distance) * window).astype(np.float32)


_SINC = _sinc_table()


def read_samples(track: AudioTrack, *, folder: Path | None = None, channels: int = 1) -> Samples:
    """Decode a track; with three channels left minus right and the centre are kept too."""
    samples = Samples(track, folder, channels)
    try:
        _decode(samples, channels)
    except BaseException:
        samples.close()
        raise
    return samples


def _decode(samples: Samples, channels: int) -> None:
    import av

    track = samples.track
    loud = 0
    difference = total = 0.0
    with open_media(track.path) as container:
        stream = container.streams.audio[track.stream]
        stream.thread_type = "NONE"  # one core, and the same order every time
        try:
            for names, block in _blocks(container, stream, samples):
                stereo = to_stereo(names, block)
                mid, side = stereo.mean(0), stereo[0] - stereo[1]
                loud += int(np.count_nonzero(np.abs(block).max(0) >= _LOUD))
                difference += float(np.dot(side, side))
                total += float(np.dot(mid, mid))
                has_centre = "FC" in names and len(names) > 1
                samples.has_centre |= has_centre
                centre = block[names.index("FC")] if has_centre else np.zeros_like(mid)
                samples.append(np.stack([mid, side, centre][:channels]))
        except av.FFmpegError as error:
            raise DataError(
                f"{track.path}: the sound is damaged after {samples.seconds:.1f} seconds "
                f"({error.strerror}); copy or convert the file."
            ) from None
    if samples.count == 0:
        raise DataError(f"{track.path}: the sound has no length; name another file or stream.")
    if samples.seconds < _CUT_OFF * track.seconds - 1:
        raise DataError(
            f"{track.path}: the file is cut off: it states {track.seconds:.1f} seconds, and its "
            f"sound ends after {samples.seconds:.1f}; copy it again."
        )
    samples.mono = difference <= 1e-9 * max(total, 1e-9)
    samples.clipped = loud / samples.count


def _blocks(container: InputContainer, stream: AudioStream, samples: Samples) -> Iterator[Block]:
    """Decode and resample; silence fills the gaps that the time stamps leave."""
    resampler: AudioResampler | None = None
    names: tuple[str, ...] = ()
    origin = (container.start_time or 0) / 1e6
    expected = 0.0  # where the next frame should begin, in seconds
    for frame in decoded_frames(container, stream):
        described = speakers(frame)
        start = expected if frame.time is None else frame.time - origin
        gap = start - expected
        if gap < -JITTER:  # time stamps that begin again: go on
            origin += gap
            gap = 0.0
        if gap > _LONGEST_GAP:
            raise DataError(
                f"{samples.track.path}: the time stamps jump by {gap:.0f} seconds after "
                f"{expected:.1f}; write the file anew, for example with 'ffmpeg -i IN -c copy OUT'."
            )
        if resampler is not None and (gap > JITTER or described != names):
            yield from _drained(resampler, names)
            resampler = None
        if gap > JITTER:
            silence = round(start * RATE) - samples.count
            if samples.count:
                samples.gaps.append(Gap(round(expected, 3), round(gap, 3)))
            for left in range(silence, 0, -_BLOCK):
                yield ("FL", "FR"), np.zeros((2, min(left, _BLOCK)), np.float32)
            expected = start
        if resampler is None:
            names, resampler = described, block_resampler(frame)
        expected += frame.samples / frame.sample_rate
        for output in resampler.resample(frame):
            yield names, np.asarray(output.to_ndarray(), np.float32)
    if resampler is not None:
        yield from _drained(resampler, names)


def decoded_frames(
    container: InputContainer, stream: AudioStream, after: float = -math.inf
) -> Iterator[AudioFrame]:
    """Decode frame by frame, from a second on.

    A few damaged packets are left out, and a gap shows where.
    """
    import av

    failures = 0
    for packet in container.demux(stream):
        if packet.pts is not None and packet.pts * packet.time_base < after:
            continue
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            failures += 1
            if failures > 100:
                raise


def named_layout(layout: AudioLayout) -> AudioLayout:
    """Return the layout of a stream; without names of speakers, the usual one of so many."""
    from av import AudioLayout

    usual = _USUAL_LAYOUTS.get(layout.nb_channels)
    is_named = any(channel.name in _WEIGHTS for channel in layout.channels)
    return layout if is_named or usual is None else AudioLayout(usual)


def speakers(frame: AudioFrame) -> tuple[str, ...]:
    """Return the names of the speakers that the channels of a frame are for."""
    return tuple(channel.name for channel in named_layout(frame.layout).channels)


def block_resampler(frame: AudioFrame) -> AudioResampler:
    """Make what brings frames like this one to 16 kHz, in blocks of 30 seconds."""
    import av

    return av.AudioResampler(format="fltp", layout=frame.layout.name, rate=RATE, frame_size=_BLOCK)


def _drained(resampler: AudioResampler, names: tuple[str, ...]) -> Iterator[Block]:
    for output in resampler.resample(None):
        yield names, np.asarray(output.to_ndarray(), np.float32)


def to_stereo(names: tuple[str, ...], block: Floats) -> Floats:
    """Mix all speakers to left and right, no louder than the loudest can be."""
    if len(names) == 1:
        return np.repeat(block, 2, 0)
    weights = np.array([_WEIGHTS.get(name, (0.0, 0.0)) for name in names], np.float32).T
    if not weights.any():
        weights = np.full((2, len(names)), 1 / len(names), np.float32)
    mixed: Floats = (weights / max(1.0, float(weights.sum(1).max()))) @ block
    return mixed


def wav_file(sound: Floats) -> bytes:
    """Write samples as a WAV file.

    >>> len(wav_file(np.zeros(16_000, np.float32)))
    32044
    """
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.clip(sound * 32767, -32768, 32767).astype("<i2").tobytes())
    return content.getvalue()
