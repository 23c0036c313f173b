module pawl

go 1.19
