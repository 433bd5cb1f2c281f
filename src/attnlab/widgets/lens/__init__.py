"""What a language model's output would say after each of its layers, and what each layer adds."""
