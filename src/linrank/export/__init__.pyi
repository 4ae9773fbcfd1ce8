from . import solr as solr
from ._function import LinearFunction as LinearFunction
from ._options import Options as Options
from ._target import Target as Target
from ._targets import TARGETS as TARGETS
from ._verify import Verification as Verification
from ._verify import lowest_score as lowest_score
from ._verify import verify as verify
