"""What an experiment's file asks, read and checked."""
