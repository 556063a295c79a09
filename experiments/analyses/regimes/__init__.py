"""What models lose where concepts, documents, or a sight free of distractors are taken from them."""
