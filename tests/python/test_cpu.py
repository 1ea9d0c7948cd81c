"""Statistics and cache of the CPU's memory."""

from __future__ import annotations

import pytest

import facula


def test_memory_is_counted_and_returned_at_once():
    before = facula.cpu.memory_allocated()
    x = facula.empty(1 << 20)
    during = facula.cpu.memory_allocated()
    assert (1 << 22) <= during - before < (1 << 22) + 4096
    del x
    assert facula.cpu.memory_allocated() - before < 4096


def test_peaks_are_kept_until_they_are_reset():
    facula.cpu.reset_peak_memory_stats()
    start = facula.cpu.memory_allocated()
    facula.empty(1 << 20)
    assert facula.cpu.max_memory_allocated() - start >= 1 << 22
    facula.cpu.reset_peak_memory_stats()
    assert facula.cpu.max_memory_allocated() - start < 1 << 20


def test_idle_blocks_are_used_again_and_can_be_given_back():
    facula.empty(1 << 22)
    mappings = facula.cpu.memory_stats()["num_system_alloc"]
    for _ in range(5):
        facula.empty(1 << 22)
    assert facula.cpu.memory_stats()["num_system_alloc"] == mappings
    reserved = facula.cpu.memory_reserved()
    if reserved == 0:
        pytest.skip("the cache is off")
    facula.cpu.empty_cache()
    assert reserved - facula.cpu.memory_reserved() >= 1 << 24
    assert facula.cpu.memory_stats()["cached_bytes.all.current"] == 0


def test_impossible_sizes_raise_and_leave_everything_usable():
    for error in (MemoryError, RuntimeError, facula.OutOfMemoryError):
        try:
            facula.empty(1 << 43)
        except error as e:
            assert "out of memory" in str(e)
        else:
            raise AssertionError("nothing was raised")
    assert facula.ones(3).tolist() == [1, 1, 1]
    assert facula.cpu.memory_stats()["num_ooms"] >= 3
