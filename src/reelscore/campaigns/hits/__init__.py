"""What raters are shown: HITs of tasks, made from captions by layouts."""
