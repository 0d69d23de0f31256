"""`weir experiment pool-calls`: pools in real calls, beside Weir alone and Chromium's own GCC."""
