import unittest

from leap import is_leap


class Leap(unittest.TestCase):
    def test_centuries(self):
        for year, want in ((1700, False), (1800, False), (1900, False), (2000, True)):
            self.assertEqual(is_leap(year), want)

    def test_others(self):
        self.assertTrue(is_leap(2024))
        self.assertFalse(is_leap(2025))


if __name__ == "__main__":
    unittest.main()
