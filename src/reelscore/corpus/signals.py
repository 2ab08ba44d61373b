"""What of scipy sound is analysed with; where it is missing, one message says how to get it."""

from __future__ import annotations

from types import ModuleType

from reelscore.errors import MissingExtraError

try:
    from scipy import fft as fft
    from scipy.ndimage import maximum_filter1d as maximum_filter1d
    from scipy.ndimage import uniform_filter1d as uniform_filter1d
except ModuleNotFoundError:
    raise MissingExtraError.of("Analysing sound needs scipy", "reelscore[corpus]") from None


def signal_module() -> ModuleType:
    """Return ``scipy.signal``, which is imported only where it is needed: that takes a while."""
    import scipy.signal

    return scipy.signal  # type: ignore[no-any-return]
