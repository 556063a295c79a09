"""Which wording: effects against a control in each model and over models, and the rule."""
