"""Rows and losses on a torch device: by torch's operations, the same on a CPU and on CUDA.

Nothing here is imported before a device is asked for: `linrank.engines.open` does so.

    layout    rankings as flat arrays on the device, one entry a member
    windows   members by score, and each one's active partners as a range of them
    sums      sums over those partners, in whole numbers: the same bits in any order
    matrix    X, dense or CSR with its transpose
    hinge, squared_hinge, huber_hinge, logistic, logistic_erfc, wrong_pairs    one loss each; `losses` lists them
    hessian   exact Hessians by batches of rankings
    pairs     the same pair by pair, in Triton (`triton_kernels`)
    evaluation, engine    the contract
    device    which device is meant, and whether it has room
    cost      what a query costs: torch is not imported for it
"""
