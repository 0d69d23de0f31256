# The headers' plain comments as Doxygen's: before what they describe, and behind it.
s#^( *)// #\1/// #
s#^( *)//$#\1///#
s#([;,{)]) +// #\1 ///< #
s#^( *)/\* ?#\1/** #
s#([;,{0-9]) +/\* #\1 /**< #
