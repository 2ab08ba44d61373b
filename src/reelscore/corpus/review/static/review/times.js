// Times as people read them.

/** 3725.04 is 1:02:05.0 */
export function clock(seconds, digits = 1) {
  const unit = 10 ** digits;
  const whole = Math.round(seconds * unit);
  const rest = ((whole % (60 * unit)) / unit).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
  const minutes = Math.floor(whole / (60 * unit));
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

export const bounded = (value, low, high) => Math.min(Math.max(value, low), high);
