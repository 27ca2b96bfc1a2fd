"""Tasks: a query that is made from what is looked for and from the question that is asked.

Shape letters: `d` features. The axes before it are any, the same for what is looked for and tasks.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._checks import check_choice, check_floating, check_sizes, shape

__all__ = ["TaskQuery"]

FORMS = ("none", "added", "concatenated", "hidden layer", "gate", "task")


class TaskQuery(nn.Module):
    """Makes a query from a vector x and the embedding t of a task, in one of six forms.

    - "none": W x, the control;
    - "added": W (x + t);
    - "concatenated": W [x; t];
    - "hidden layer": a layer of 2d units with ReLU reads [x; t], and W reads these;
    - "gate": (1 + t) * W x, each feature of the query times a number of the task's;
    - "task": t alone, where the task is all that is looked for.

    Args:
        form: one of these.
        size: features d of x, of t and of the query.
        tasks: how many there are.

    Raises:
        TypeError: a size is no whole number.
        ValueError: a size is below 1, or `form` is another word.

    Source: Perez et al. 2018, section 2.1 (FiLM), for the gate; here without its shift.
    """

    def __init__(self, form: str, size: int, tasks: int):
        super().__init__()
        self.form = check_choice("form", form, FORMS)
        self.size, tasks = check_sizes(size=size, tasks=tasks)
        if form != "none":
            self.task = nn.Embedding(tasks, size)
        if form == "hidden layer":
            self.hidden = nn.Linear(2 * size, 2 * size)
        if form != "task":
            wide = form in ("concatenated", "hidden layer")
            self.W = nn.Linear(2 * size if wide else size, size)

    def forward(self, x: Tensor, task: Tensor) -> Tensor:
        """Queries (..., d) of x (..., d) and of tasks (...), numbers from 0.

        Raises:
            TypeError: x is not floating point, or the tasks are no integers.
            ValueError: x has another size, the tasks are not one for each x, or there are not so
                many.
        """
        check_floating("x", x)
        if x.shape[-1] != self.size:
            raise ValueError(f"x must have {self.size} features, got {shape(x)}")
        if task.is_floating_point() or task.dtype == torch.bool:
            raise TypeError(f"task must hold integers, got {task.dtype}")
        if task.shape != x.shape[:-1]:
            raise ValueError(f"task must be one number for each x {shape(x)}, got {shape(task)}")
        if self.form == "none":
            return self.W(x)
        tasks = self.task.num_embeddings
        if task.numel() and not 0 <= task.min() <= task.max() < tasks:
            raise ValueError(f"task must be 0 to {tasks - 1}, got {task.min()} to {task.max()}")
        t = self.task(task)
        if self.form == "added":
            return self.W(x + t)
        if self.form == "gate":
            return (1 + t) * self.W(x)
        if self.form == "task":
            return t
        both = torch.cat([x, t], dim=-1)
        return self.W(both if self.form == "concatenated" else self.hidden(both).relu())
