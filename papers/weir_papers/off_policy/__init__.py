"""TD3 and SAC of stable-baselines3, as algorithms of `weir train`: ReCoCo's models learn with them."""
