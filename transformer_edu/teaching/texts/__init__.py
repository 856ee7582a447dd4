"""Sentences and captions in English and German, written for this course."""
