"""Review: what people decide about segments and sentences, and what they see and hear for it."""
