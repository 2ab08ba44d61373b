"""Words with times: subtitles, transcripts of narrations, scripts by their subtitles."""
