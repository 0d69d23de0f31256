"""From result records to measures, and from the measures of many runs to a summary."""
