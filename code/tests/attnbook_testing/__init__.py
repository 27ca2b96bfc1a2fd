"""Helpers of the tests: `references` are slow and independent, `strategies` draw the cases."""
