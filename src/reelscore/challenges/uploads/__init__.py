"""What teams hand in: archives and files of captions, read and checked."""
