"""The sound of films and described tracks: decoding, aligning, and finding the narrator."""
