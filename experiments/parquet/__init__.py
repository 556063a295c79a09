"""Runs as folders of Parquet files: written from a store, counted and reported without one."""
