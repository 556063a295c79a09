"""Respondents: models that answer the questions of a set, each under several versioned answer prompts."""
