"""Exercise checks, one module a lesson: right answers pass, a wrong one's mistake is named.

answer holds the three outcomes: waiting, a hint for that very mistake, correct.
"""
