"""Networks behind learned metrics: encoders of texts and pictures, and how they are computed."""
