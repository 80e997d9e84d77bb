"""What the lessons' cells call: trainings, tables and measurements, recorded and published numbers; a folder a unit.

The algorithms themselves are in the folders of the techniques.
"""
