# unit tests of slurm
