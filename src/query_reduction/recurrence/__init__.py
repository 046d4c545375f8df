"""h_t = (1 - z_t) h_{t-1} + v_t: the scan and its backends."""
