"""What was paid for, durable: completions, runs and the sets they judged."""
