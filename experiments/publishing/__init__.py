"""Publish a run, as the translator in the package was: weights, tokenizer, history and a card.

export           chooses weights and length penalty by validation, looks at test once, writes
card             what the card says, all of it from the run's own records
bootstrap        how sure the test scores are: intervals, and chrF
everyday_scores  how many everyday sentences are translated correctly
"""
