"""Pieces of work side by side, each on one core."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Operations of the calling thread, and of threads that begin meanwhile, are not split over cores."""
    import torch  # here, because what every room may use must not import it

    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(num_threads)


@contextmanager
def threads(num_workers: int | None = None) -> Iterator[tuple[ThreadPoolExecutor, threading.Event]]:
    """As many threads as torch uses by default, with operations that are not split, and a way to stop them.

    Splitting every small operation over cores costs more than it gains; whole pieces side by side do not wait
    for each other.
    """
    import torch

    num_threads = torch.get_num_threads()
    stopped = threading.Event()
    pool = ThreadPoolExecutor(num_workers or num_threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool, stopped
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(num_threads)  # what the pool's threads set is also the default of later threads
