"""All heads of a trained model, sentence by sentence."""
