TABLE = ()
