# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the papers, simulated and measured, beside those printed."""
