"""The course: assignments under course/, and what grades them. docs/course.md is the teacher's guide."""
