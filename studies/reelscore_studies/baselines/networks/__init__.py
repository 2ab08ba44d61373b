"""Networks that write a sentence from label scores."""
