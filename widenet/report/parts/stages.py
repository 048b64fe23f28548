"""What is known of long stages before the result."""

from widenet.base.checkpoint import StageNotKept, StageResumed


def on_the_way(fact: object) -> tuple[str, ...]:
    """A stage that goes on from an earlier run, or could not."""
    match fact:
        case StageResumed(stage):
            return (f"Resuming “{stage}” where an earlier run left it.",)
        case StageNotKept(stage, reason):
            return (f"“{stage}” cannot be resumed: {reason.rstrip('.')}.",)
    return ()
