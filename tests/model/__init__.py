"""A model: people, controllers, faults and passes in any order, over the real code; what must hold after each step."""
