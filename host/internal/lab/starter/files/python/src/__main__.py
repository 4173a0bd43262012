import sys

import protocol
import strategy

sys.exit(protocol.main(strategy))
