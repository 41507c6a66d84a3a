"""Writing splits with the engines that users run: Beam, Dask, Ray, Spark."""
