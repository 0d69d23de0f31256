"""A trained policy learns one more objective, and what that saves and costs."""
