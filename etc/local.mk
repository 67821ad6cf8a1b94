# parts of this folder
