# Filled by packaging: install rules and CPack.
