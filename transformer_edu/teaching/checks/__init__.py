"""Exercise checks, one module per lesson: right answers pass, a wrong one's mistake is named."""
